-- What a job waits for is said in plainer words.
UPDATE job SET next_action = CASE next_action
    WHEN 'Quote it or open it' THEN 'Send a quote or start the job'
    WHEN 'Wait for the answer' THEN 'Waiting for an answer'
    WHEN 'Do the planned visit' THEN 'Visit planned'
    WHEN 'Wait for the payment' THEN 'Waiting for payment'
    WHEN 'Take it up again' THEN 'Resume the job'
    ELSE next_action END
WHERE next_action IN ('Quote it or open it', 'Wait for the answer', 'Do the planned visit', 'Wait for the payment', 'Take it up again');
