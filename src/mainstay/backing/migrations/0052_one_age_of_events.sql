-- What is kept no longer is found by organisation and moment: each event was also kept by its moment alone, for nobody.
DROP INDEX event_by_age;
