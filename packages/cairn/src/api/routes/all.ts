/** Every route with its handler. Paths, methods, roles, parameters and bodies are those of `openapi/paths/`. */
import type { Routes } from '../route.ts';
import { changeRuns } from './bulk/change-runs.ts';
import { cancel } from './cancel-run.ts';
import { decide } from './decide-approval.ts';
import { deliver } from './deliver-event.ts';
import * as effects from './effects.ts';
import { readIdempotency } from './idempotency.ts';
import * as clients from './installation/clients.ts';
import { readDiagnosis } from './installation/read-diagnosis.ts';
import * as restore from './installation/restore.ts';
import * as runtime from './installation/runtime.ts';
import * as workflows from './installation/workflows.ts';
import { readConsistency, repair } from './integrity.ts';
import { listLogs } from './list-logs.ts';
import { listMemos } from './list-memos.ts';
import { readMetrics } from './metrics/read-metrics.ts';
import { readDayBudget } from './overview/day-budget.ts';
import { listInbox } from './overview/inbox.ts';
import { readRunCounts, readRunStatistics } from './overview/run-statistics.ts';
import { searchRuns } from './overview/search.ts';
import { readGraph } from './read-graph.ts';
import { readOutput } from './read-output.ts';
import * as runs from './read-runs.ts';
import * as erasures from './retention/erase.ts';
import * as retention from './retention/retention.ts';
import * as scheduleChanges from './schedules/change.ts';
import * as schedules from './schedules/read.ts';
import * as scheduleRuns from './schedules/run.ts';
import { signal } from './signal-run.ts';
import { start } from './start-run.ts';
import { streamLogs } from './stream/stream-logs.ts';
import { streamRun } from './stream/stream-run.ts';
import { streamRuns } from './stream/stream-runs.ts';
import * as successors from './successors.ts';
import { continueSuspended, suspend } from './suspend-run.ts';
import { fail, heartbeat } from './waits.ts';

/** The first matching path is taken: `/v1/runs/counts` precedes `/v1/runs/{id}`. */
export const ROUTES: Routes = {
  '/v1/healthz': { GET: ({ instance }) => instance.health.answer() },
  '/v1/openapi.json': { GET: ({ instance }) => instance.document.json() },
  '/v1/docs': { GET: ({ instance }) => instance.document.page() },

  '/v1/runs': { GET: runs.listRuns, POST: start },
  '/v1/runs/stream': { GET: streamRuns },
  '/v1/runs/bulk': { POST: changeRuns },
  '/v1/runs/counts': { GET: readRunCounts },
  '/v1/runs/statistics': { GET: readRunStatistics },
  '/v1/runs/{id}': { GET: runs.readRun },
  '/v1/runs/{id}/events': { GET: runs.listEvents },
  '/v1/runs/{id}/stream': { GET: streamRun },
  '/v1/runs/{id}/graph': { GET: readGraph },
  '/v1/runs/{id}/steps': { GET: runs.listSteps },
  '/v1/runs/{id}/memos': { GET: listMemos },
  '/v1/runs/{id}/logs': { GET: listLogs },
  '/v1/runs/{id}/logs/stream': { GET: streamLogs },
  '/v1/runs/{id}/checkpoints': { GET: runs.listCheckpoints },
  '/v1/runs/{id}/checkpoints/{seq}/output': { GET: readOutput },
  '/v1/runs/{id}/effects': { GET: effects.listEffects },
  '/v1/runs/{id}/effects/{effectId}/resolve': { POST: effects.resolve },
  '/v1/runs/{id}/approvals/{stepId}': { POST: decide },
  '/v1/runs/{id}/waits/{stepId}/fail': { POST: fail },
  '/v1/runs/{id}/waits/{stepId}/heartbeat': { POST: heartbeat },
  '/v1/runs/{id}/signals': { POST: signal },
  '/v1/runs/{id}/cancel': { POST: cancel },
  '/v1/runs/{id}/suspend': { POST: suspend },
  '/v1/runs/{id}/continue': { POST: continueSuspended },
  '/v1/runs/{id}/resume': { POST: successors.resume },
  '/v1/runs/{id}/replay': { POST: successors.replay },
  '/v1/runs/{id}/fork': { POST: successors.fork },
  '/v1/runs/{id}/preview': { POST: successors.preview },
  '/v1/runs/{id}/consistency': { GET: readConsistency },
  '/v1/runs/{id}/repair': { POST: repair },
  '/v1/runs/{id}/retention': { GET: retention.readRetention },
  '/v1/runs/{id}/hold': { POST: retention.hold },
  '/v1/runs/{id}/release-hold': { POST: retention.release },
  '/v1/runs/{id}/erase': { POST: erasures.eraseOne },

  '/v1/events': { POST: deliver },
  '/v1/budgets/today': { GET: readDayBudget },
  '/v1/search': { GET: searchRuns },
  '/v1/inbox': { GET: listInbox },
  '/v1/idempotency/{key}': { GET: readIdempotency },
  '/v1/me': { GET: ({ caller: { principal, tenantId, role } }) => ({ principal, tenantId, role }) },

  '/v1/schedules': { GET: schedules.listAll, POST: scheduleChanges.create },
  '/v1/schedules/{id}': {
    GET: schedules.readOne,
    PATCH: scheduleChanges.patch,
    DELETE: scheduleChanges.remove,
  },
  '/v1/schedules/{id}/pause': { POST: scheduleChanges.pause },
  '/v1/schedules/{id}/resume': { POST: scheduleChanges.resume },
  '/v1/schedules/{id}/trigger': { POST: scheduleRuns.trigger },
  '/v1/schedules/{id}/backfill': { POST: scheduleRuns.backfill },

  '/v1/workflows': { GET: workflows.listWorkflows },
  '/v1/workflows/{type}/input': { GET: workflows.readWorkflowInput },
  '/v1/workflows/{type}/pause': { POST: workflows.pause },
  '/v1/workflows/{type}/unpause': { POST: workflows.unpause },
  '/v1/clients': { GET: clients.listClients, POST: clients.create },
  '/v1/clients/{id}/rotate': { POST: clients.rotate },
  '/v1/clients/{id}/revoke': { POST: clients.revoke },
  '/v1/runtime': { GET: runtime.readRuntime, PUT: runtime.setRuntime },
  '/v1/retention': { GET: retention.listExpired },
  '/v1/erasures': { GET: erasures.list, POST: erasures.eraseAll },
  '/v1/erasures/{id}': { GET: erasures.readOne },
  '/v1/restore': { GET: restore.read },
  '/v1/restore/begin': { POST: restore.begin },
  '/v1/restore/release': { POST: restore.release },
  '/v1/diagnosis': { GET: readDiagnosis },
  '/v1/metrics': { GET: readMetrics },
};
