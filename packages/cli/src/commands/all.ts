/** Every command there is, in the order in which help shows them. */
import type { CliCommand } from '../arguments/command.ts';
import { readBudgets } from './budgets.ts';
import * as clients from './clients.ts';
import { completionOf } from './completion.ts';
import { dev } from './dev.ts';
import { doctor } from './doctor/doctor.ts';
import { listEffects, resolveEffect } from './effects.ts';
import { sendEvent } from './events.ts';
import { firstClient } from './first-client.ts';
import { readIdempotency } from './idempotency.ts';
import { inbox } from './inbox.ts';
import { indexes } from './indexes.ts';
import { init } from './init/init.ts';
import { checkRun, repairRun } from './integrity.ts';
import { logs } from './logs.ts';
import { mcp } from './mcp.ts';
import {
  eraseRun,
  eraseTenant,
  gc,
  holdRun,
  listErasures,
  readRetention,
  releaseRun,
  showErasure,
} from './retention.ts';
import { bulk } from './runs/bulk.ts';
import { cancelRun, continueRun, failWait, heartbeatWait, signalRun, suspendRun } from './runs/change.ts';
import * as decisions from './runs/decide.ts';
import { explain } from './runs/explain.ts';
import { listRuns } from './runs/list.ts';
import { searchRuns } from './runs/search.ts';
import * as shown from './runs/show.ts';
import { startRun } from './runs/start.ts';
import { runStatistics } from './runs/statistics.ts';
import { forkRun, previewRun, replayRun, resumeRun } from './runs/successors.ts';
import { watchRun } from './runs/watch.ts';
import { beginRestore, releaseRestore, showRestore } from './runtime/restore.ts';
import { listWorkflows, pause, readWorkflowInput, unpause } from './runtime/switches.ts';
import * as schedules from './schedules.ts';
import { sweep } from './sweep.ts';

export const COMMANDS: readonly CliCommand[] = [
  init,
  dev,
  mcp,
  sweep,
  inbox,
  explain,
  listRuns,
  searchRuns,
  runStatistics,
  readBudgets,
  shown.showRun,
  watchRun,
  logs,
  startRun,
  cancelRun,
  bulk,
  suspendRun,
  continueRun,
  resumeRun,
  replayRun,
  forkRun,
  previewRun,
  decisions.approve,
  decisions.waive,
  decisions.sendBack,
  decisions.reject,
  decisions.halt,
  signalRun,
  failWait,
  heartbeatWait,
  shown.listEvents,
  shown.listSteps,
  shown.listCheckpoints,
  shown.listMemos,
  shown.readOutput,
  listEffects,
  resolveEffect,
  checkRun,
  repairRun,
  readRetention,
  holdRun,
  releaseRun,
  eraseRun,
  eraseTenant,
  listErasures,
  showErasure,
  gc,
  sendEvent,
  schedules.listSchedules,
  schedules.showSchedule,
  schedules.createSchedule,
  schedules.changeSchedule,
  schedules.pauseSchedule,
  schedules.resumeSchedule,
  schedules.triggerSchedule,
  schedules.backfillSchedule,
  schedules.deleteSchedule,
  clients.listClients,
  clients.createClient,
  clients.rotateClient,
  clients.revokeClient,
  firstClient,
  listWorkflows,
  readWorkflowInput,
  pause,
  unpause,
  showRestore,
  beginRestore,
  releaseRestore,
  readIdempotency,
  doctor,
  indexes,
  completionOf(() => COMMANDS),
];
