/** Every route there is. `app.ts` can register no other: its table is typed by this one. */
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
/** The methods of a path, each with its handler; one too few or too many does not compile. */
export type Handlers<P extends Path, Handler> = { readonly [M in keyof (typeof PATHS)[P]]: Handler };
