"""Pages before sign-in: signing in, a new password, invitations and the first organisation."""
