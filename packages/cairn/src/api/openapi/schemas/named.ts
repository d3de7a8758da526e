/** Named schemas of the document. */
import * as bodies from './bodies.ts';
import { BulkReport } from './bulk.ts';
import * as changes from './changes.ts';
import { InFlight, Problem } from './common.ts';
import { Diagnosis } from './diagnosis.ts';
import * as documents from './documents.ts';
import * as effects from './effects.ts';
import * as installation from './installation.ts';
import * as integrity from './integrity.ts';
import * as retention from './retention.ts';
import * as runs from './runs.ts';
import * as scheduleAnswers from './schedules.ts';
import * as successors from './successors.ts';
import * as tenantRuns from './tenant-runs.ts';

const { RunSummary, RunPage, Run, Wait, RecordedError } = runs;

export const NAMED = {
  Problem,
  InFlight,
  Diagnosis,
  RunSummary,
  RunPage,
  Run,
  Wait,
  RecordedError,
  BulkReport,
  ...changes,
  ...documents,
  ...effects,
  ...successors,
  ...scheduleAnswers,
  ...installation,
  ...integrity,
  ...retention,
  ...tenantRuns,
  ...bodies,
};

export type SchemaName = keyof typeof NAMED;
