/** Names of the served schemas. Clients generate types from them, so a name may be added but never removed. */
import { expect, test } from '@jest/globals';
import { openApi } from '../../../packages/cairn/src/api/openapi/document.ts';

const SERVED = `
  ApprovalDecided BackfillBody Backfilled BulkBody BulkReport CancelBody Cancellation Checkpoint
  CheckpointPage Client ClientList ClientWithSecret Consistency ContinueBody Continued CreateClientBody
  DayBudget DecisionBody DeleteScheduleBody Diagnosis Effect EffectPage EffectResolved EraseRunBody
  EraseTenantBody Erasure ErasurePage EventBody EventDelivered EventPage ExpiredRunPage FailWaitBody
  ForkBody FoundRuns Health HeartbeatWaitBody HoldBody IdempotencyRecord InFlight InboxItem InboxPage
  Inconsistency LogLine LogPage Me Memo MemoPage NewScheduleBody Output PatchScheduleBody
  PauseScheduleBody PauseWorkflowBody PreviewBody Problem RecordedError ReleaseHoldBody Repair RepairBody
  ReplayBody ResolveBody Restore RestoreBody RestoreReleased ResumeBody ResumeScheduleBody Resumed
  RevokeClientBody RotateClientBody Run RunCounts RunEvent RunGraph RunHeld RunPage RunReleased
  RunRetention RunStarted RunStatistics RunSummary Runtime RuntimeBody RuntimeSet Schedule ScheduleDeleted
  SchedulePage ScheduleSummary ScheduleTriggered SignalBody Signalled StartBody Step StepPage
  SuccessorPreview SuspendBody Suspension TriggerScheduleBody Wait WaitBeaten WaitFailed WorkflowInput
  WorkflowList WorkflowPaused WorkflowUnpaused
`;

test('the served schemas have the names of the list: none is lost, and a new one is added to it', () => {
  const names = Object.keys(openApi('1.2.3').components.schemas);
  const served = SERVED.split(/\s+/).filter(Boolean);
  expect(served.filter((name) => !names.includes(name))).toEqual([]);
  expect(names.filter((name) => !served.includes(name))).toEqual([]);
});
