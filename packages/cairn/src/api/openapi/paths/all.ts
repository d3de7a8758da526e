/** Every route. `routes/all.ts` can have no other, because its type is derived from this table. */
import { DIAGNOSIS_PATHS } from './diagnosis.ts';
import { INSTALLATION_PATHS } from './installation.ts';
import { INTEGRITY_PATHS } from './integrity.ts';
import { OVERVIEW_PATHS } from './overview.ts';
import { RETENTION_PATHS } from './retention.ts';
import { RUN_PATHS } from './runs.ts';
import { SCHEDULE_PATHS } from './schedules.ts';

export const PATHS = {
  ...RUN_PATHS,
  ...OVERVIEW_PATHS,
  ...INTEGRITY_PATHS,
  ...RETENTION_PATHS,
  ...SCHEDULE_PATHS,
  ...INSTALLATION_PATHS,
  ...DIAGNOSIS_PATHS,
};
export type Path = keyof typeof PATHS;
