/** The test kit, as tests of workflows import it. Everything else in this folder is how it works. */
export type { LogLine } from './collected-log.ts';
export type { CancelOptions, DecideOptions, SentEvent, SentSignal, StartOptions } from './doors.ts';
export { expectJournal, type JournalExpectations, JournalMismatch } from './expect-journal.ts';
export type { OpenWait, TestRun } from './test-run.ts';
export {
  createTestRuntime,
  type TestRuntime,
  type TestRuntimeOptions,
} from './test-runtime.ts';
