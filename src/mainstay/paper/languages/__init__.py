"""What documents, mails and public pages say, one catalogue a language."""
