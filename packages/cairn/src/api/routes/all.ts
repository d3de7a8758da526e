/** Every route with its handler. Paths, methods, roles, parameters and bodies are those of `openapi/paths/`. */
import type { Routes } from '../route.ts';
import * as acts from './act-on-run.ts';
import { changeRuns } from './bulk/change-runs.ts';
import { readDayBudget } from './day-budget.ts';
import { deliver } from './deliver-event.ts';
import * as effects from './effects.ts';
import { readIdempotency } from './idempotency.ts';
import { listInbox } from './inbox.ts';
import * as clients from './installation/clients.ts';
import { readDiagnosis } from './installation/read-diagnosis.ts';
import * as restore from './installation/restore.ts';
import * as runtime from './installation/runtime.ts';
import * as workflows from './installation/workflows.ts';
import { readConsistency, repair } from './integrity.ts';
import { readMetrics } from './metrics/read-metrics.ts';
import { readGraph } from './read-graph.ts';
import { readOutput } from './read-output.ts';
import * as runs from './read-runs.ts';
import * as erasures from './retention/erase.ts';
import * as retention from './retention/retention.ts';
import * as schedules from './schedules.ts';
import { start } from './start-run.ts';
import { streamLogs } from './stream/stream-logs.ts';
import { streamRun } from './stream/stream-run.ts';
import { streamRuns } from './stream/stream-runs.ts';
import * as successors from './successors.ts';

/** The first matching path wins, so `/v1/runs/counts` precedes `/v1/runs/{id}`. */
export const ROUTES: Routes = {
  'GET /v1/healthz': ({ instance }) => instance.health.answer(),
  'GET /v1/openapi.json': ({ instance }) => instance.document.json(),
  'GET /v1/docs': ({ instance }) => instance.document.page(),

  'GET /v1/runs': runs.listRuns,
  'POST /v1/runs': start,
  'GET /v1/runs/stream': streamRuns,
  'POST /v1/runs/bulk': changeRuns,
  'GET /v1/runs/counts': runs.readRunCounts,
  'GET /v1/runs/statistics': runs.readRunStatistics,
  'GET /v1/runs/{id}': runs.readRun,
  'GET /v1/runs/{id}/events': runs.listEvents,
  'GET /v1/runs/{id}/stream': streamRun,
  'GET /v1/runs/{id}/graph': readGraph,
  'GET /v1/runs/{id}/steps': runs.listSteps,
  'GET /v1/runs/{id}/memos': runs.listMemos,
  'GET /v1/runs/{id}/logs': runs.listLogs,
  'GET /v1/runs/{id}/logs/stream': streamLogs,
  'GET /v1/runs/{id}/checkpoints': runs.listCheckpoints,
  'GET /v1/runs/{id}/checkpoints/{seq}/output': readOutput,
  'GET /v1/runs/{id}/effects': effects.listEffects,
  'POST /v1/runs/{id}/effects/{effectId}/resolve': effects.resolve,
  'POST /v1/runs/{id}/approvals/{stepId}': acts.decide,
  'POST /v1/runs/{id}/waits/{stepId}/fail': acts.fail,
  'POST /v1/runs/{id}/waits/{stepId}/heartbeat': acts.heartbeat,
  'POST /v1/runs/{id}/signals': acts.signal,
  'POST /v1/runs/{id}/cancel': acts.cancel,
  'POST /v1/runs/{id}/suspend': acts.suspend,
  'POST /v1/runs/{id}/continue': acts.continueSuspended,
  'POST /v1/runs/{id}/resume': successors.resume,
  'POST /v1/runs/{id}/replay': successors.replay,
  'POST /v1/runs/{id}/fork': successors.fork,
  'POST /v1/runs/{id}/preview': successors.preview,
  'GET /v1/runs/{id}/consistency': readConsistency,
  'POST /v1/runs/{id}/repair': repair,
  'GET /v1/runs/{id}/retention': retention.readRetention,
  'POST /v1/runs/{id}/hold': retention.hold,
  'POST /v1/runs/{id}/release-hold': retention.release,
  'POST /v1/runs/{id}/erase': erasures.eraseOne,

  'POST /v1/events': deliver,
  'GET /v1/budgets/today': readDayBudget,
  'GET /v1/search': runs.searchRuns,
  'GET /v1/inbox': listInbox,
  'GET /v1/idempotency/{key}': readIdempotency,
  'GET /v1/me': ({ caller: { principal, tenantId, role } }) => ({ principal, tenantId, role }),

  'GET /v1/schedules': schedules.listAll,
  'POST /v1/schedules': schedules.create,
  'GET /v1/schedules/{id}': schedules.readOne,
  'PATCH /v1/schedules/{id}': schedules.patch,
  'DELETE /v1/schedules/{id}': schedules.remove,
  'POST /v1/schedules/{id}/pause': schedules.pause,
  'POST /v1/schedules/{id}/resume': schedules.resume,
  'POST /v1/schedules/{id}/trigger': schedules.trigger,
  'POST /v1/schedules/{id}/backfill': schedules.backfill,

  'GET /v1/workflows': workflows.listWorkflows,
  'GET /v1/workflows/{type}/input': workflows.readWorkflowInput,
  'POST /v1/workflows/{type}/pause': workflows.pause,
  'POST /v1/workflows/{type}/unpause': workflows.unpause,
  'GET /v1/clients': clients.listClients,
  'POST /v1/clients': clients.create,
  'POST /v1/clients/{id}/rotate': clients.rotate,
  'POST /v1/clients/{id}/revoke': clients.revoke,
  'GET /v1/runtime': runtime.readRuntime,
  'PUT /v1/runtime': runtime.setRuntime,
  'GET /v1/retention': retention.listExpired,
  'GET /v1/erasures': erasures.list,
  'POST /v1/erasures': erasures.eraseAll,
  'GET /v1/erasures/{id}': erasures.readOne,
  'GET /v1/restore': restore.read,
  'POST /v1/restore/begin': restore.begin,
  'POST /v1/restore/release': restore.release,
  'GET /v1/diagnosis': readDiagnosis,
  'GET /v1/metrics': readMetrics,
};
