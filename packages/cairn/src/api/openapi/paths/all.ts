/** Every operation. `routes/all.ts` can have no other, because its type is derived from this table. */
import { INSTALLATION_OPERATIONS } from './installation.ts';
import { RETENTION_OPERATIONS } from './retention.ts';
import { RUN_OPERATIONS } from './runs.ts';
import { SCHEDULE_OPERATIONS } from './schedules.ts';
import { TENANT_RUNS_OPERATIONS } from './tenant-runs.ts';

export const OPERATIONS = {
  ...RUN_OPERATIONS,
  ...TENANT_RUNS_OPERATIONS,
  ...RETENTION_OPERATIONS,
  ...SCHEDULE_OPERATIONS,
  ...INSTALLATION_OPERATIONS,
};
/** Method and path, such as `GET /v1/runs/{id}`. */
export type OperationName = keyof typeof OPERATIONS;
