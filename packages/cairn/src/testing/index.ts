/** Public entry of the test kit. All other files of this folder are internal. */

export { expectJournal, type JournalExpectations, JournalMismatch } from './expect-journal.ts';
export type {
  CancelOptions,
  DecideOptions,
  ResolveOptions,
  SentEvent,
  SentSignal,
  StartOptions,
} from './operations.ts';
export type { Arranged, SweepDifference, SweepOptions, SweepPoint, SweepReport } from './sweep/scenario.ts';
export { defineSweep, type Sweep } from './sweep/sweep.ts';
export type { OpenWait, TestRun } from './test-run.ts';
export {
  createTestRuntime,
  type TestRuntime,
  type TestRuntimeOptions,
} from './test-runtime.ts';
export type { CollectedLine as LogLine } from './world/collected-log.ts';
