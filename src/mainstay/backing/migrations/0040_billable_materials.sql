-- What was bought for a job is billed on as the job is billed now, also where it was billed in another way before.
UPDATE material SET billable = CASE WHEN value > 0 AND EXISTS (
    SELECT 1 FROM job WHERE job.organisation_id = material.organisation_id AND job.id = material.job_id
    AND job.billing = 'timeAndMaterials') THEN 1 ELSE 0 END
WHERE billed = 0;
