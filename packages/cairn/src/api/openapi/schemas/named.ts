/** Every shape that has a name in the document. Bodies are the very schemas by which the routes read them. */
import { CancelBody } from '../../routes/cancel-run.ts';
import { DecisionBody } from '../../routes/decide-approval.ts';
import { EventBody } from '../../routes/deliver-event.ts';
import { ResolveBody } from '../../routes/effects.ts';
import { FailWaitBody } from '../../routes/fail-wait.ts';
import { HeartbeatWaitBody } from '../../routes/heartbeat-wait.ts';
import { CreateClientBody, RevokeClientBody, RotateClientBody } from '../../routes/installation/clients.ts';
import { RestoreBody } from '../../routes/installation/restore.ts';
import { RuntimeBody } from '../../routes/installation/runtime.ts';
import { PauseBody as PauseWorkflowBody } from '../../routes/installation/workflows.ts';
import { RepairBody } from '../../routes/integrity/repair.ts';
import { EraseRunBody, EraseTenantBody } from '../../routes/retention/erase.ts';
import { HoldBody, ReleaseHoldBody } from '../../routes/retention/hold.ts';
import * as schedules from '../../routes/schedules/change.ts';
import { BackfillBody, TriggerBody } from '../../routes/schedules/run.ts';
import { SignalBody } from '../../routes/signal-run.ts';
import { StartBody } from '../../routes/start-run.ts';
import { ForkBody, PreviewBody, ReplayBody, ResumeBody } from '../../routes/successors.ts';
import { ContinueBody, SuspendBody } from '../../routes/suspend-run.ts';
import * as changes from './changes.ts';
import { InFlight, Problem } from './common.ts';
import { Diagnosis } from './diagnosis.ts';
import * as documents from './documents.ts';
import * as effects from './effects.ts';
import * as installation from './installation.ts';
import * as integrity from './integrity.ts';
import * as overview from './overview.ts';
import * as retention from './retention.ts';
import * as runs from './runs.ts';
import * as scheduleAnswers from './schedules.ts';
import * as successors from './successors.ts';

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
  ...changes,
  ...documents,
  ...effects,
  ...successors,
  ...scheduleAnswers,
  ...installation,
  ...integrity,
  ...retention,
  ...overview,
  StartBody,
  CancelBody,
  SuspendBody,
  ContinueBody,
  FailWaitBody,
  HeartbeatWaitBody,
  RepairBody,
  HoldBody,
  ReleaseHoldBody,
  ResumeBody,
  ReplayBody,
  ForkBody,
  PreviewBody,
  SignalBody,
  EventBody,
  DecisionBody,
  ResolveBody,
  RestoreBody,
  EraseRunBody,
  EraseTenantBody,
  RuntimeBody,
  PauseWorkflowBody,
  CreateClientBody,
  RotateClientBody,
  RevokeClientBody,
  NewScheduleBody: schedules.NewBody,
  PatchScheduleBody: schedules.PatchBody,
  PauseScheduleBody: schedules.PauseBody,
  ResumeScheduleBody: schedules.ResumeBody,
  DeleteScheduleBody: schedules.DeleteBody,
  TriggerScheduleBody: TriggerBody,
  BackfillBody,
};

export type SchemaName = keyof typeof NAMED;
