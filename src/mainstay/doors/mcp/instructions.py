"""What is said once for all tools: whoever connects reads it before the list of them."""

INSTRUCTIONS = (
    "Mainstay holds the records of one organisation of the trades and services. You act as a person of it, with that "
    "person's rights; get_me tells them. "
    "In every tool, a field means what records show by the same name. "
    "A field that ends in Id takes the id of such a record; of a job, a quote, an invoice, a credit note or a purchase "
    "order its number does as well, of an item of the price list its code. Hours logged and time off asked for without "
    "personId are your own. "
    'Amounts, prices, percentages and quantities are decimal text with up to four decimals, such as "85.50"; a number '
    "is taken by its digits. A date is written as 2026-11-15; a time, such as startsAt, as it is there, "
    "2026-11-15T10:30, or with an offset, 2026-11-15T10:30Z; a date-time as 2026-11-15T10:30:50Z; a country as GB, a "
    "currency as EUR, a time zone as Europe/Berlin, a colour as #3366cc. "
    "A list takes up to 100 with limit, and goes on with startingAfter, the last id of the page before. Its other "
    "fields narrow it: from and until are dates, both included; text is words or their beginnings, with or without "
    "accents, a number, or a phone number in any spelling; without status, most lists leave out what is archived, "
    "cancelled or gone. Lists give the newest first, list_visits and list_time_off the earliest, list_events "
    "the oldest, unless order says otherwise. "
    "A change takes only the fields that are to be different; null clears one. A tool that saves changes the record "
    "whose id is sent, and makes a new one without. "
    "A tool that takes confirmed cannot be undone. It first answers with a preview and does nothing: show it to the "
    "person, then call again with confirmed: true."
)
