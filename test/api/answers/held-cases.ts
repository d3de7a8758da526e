/** Answers of the routes that suspend a run, continue it, and fail one of its waits. */
import type { ApiDeps } from '../../../packages/cairn/src/api/deps.ts';
import type { ErrorCode } from '../../../packages/cairn/src/core/errors.ts';
import { WorkflowRegistry } from '../../../packages/cairn/src/engine/define/registry.ts';
import type { Route } from '../access/routes/table.ts';
import type { Stage } from '../fuzz/stage.ts';
import { echo } from '../installation.ts';
import { type Case, send, to } from './cases.ts';

const NO_RUN = `run_${'a'.repeat(26)}`;
const SUSPEND = 'POST /v1/runs/{id}/suspend';
const CONTINUE = 'POST /v1/runs/{id}/continue';
const FAIL_WAIT = 'POST /v1/runs/{id}/waits/{stepId}/fail';
const HEARTBEAT = 'POST /v1/runs/{id}/waits/{stepId}/heartbeat';
const CANCEL = 'POST /v1/runs/{id}/cancel';

const ended = ({ named }: Stage) => ({ id: named.ended });
const acting = ({ named }: Stage) => ({ id: named.acting });
const bare = (deps: ApiDeps): ApiDeps => ({ ...deps, registry: new WorkflowRegistry([echo]) });

export const HELD: readonly Case[] = [
  ...[SUSPEND, CONTINUE, FAIL_WAIT, HEARTBEAT].map((route) =>
    refused(route as Route, 'a run that there is not', [404, 'RUN_NOT_FOUND'], () => ({ id: NO_RUN })),
  ),
  refused(SUSPEND, 'a run that has ended', [409, 'RUN_TERMINAL_STATE'], ended),
  {
    ...refused(SUSPEND, 'a run that is being cancelled', [409, 'RUN_INVALID_TRANSITION'], acting),
    // Completed steps are undone first, so the run has not ended yet.
    before: (stage) => send(stage, CANCEL, to(CANCEL, acting)(stage)),
  },
  ...([FAIL_WAIT, HEARTBEAT] as const).flatMap((route) => [
    refused(route, 'a run that has ended', [409, 'RUN_TERMINAL_STATE'], ended),
    refused(route, 'a step that waits for nothing', [409, 'RUN_INVALID_TRANSITION'], () => ({
      stepId: 'strict',
    })),
  ]),
  {
    ...refused(
      FAIL_WAIT,
      'a run of a version that is not deployed',
      [409, 'PLAN_VERSION_UNAVAILABLE'],
      () => ({}),
    ),
    around: bare,
  },
];

function refused(
  route: Route,
  because: string,
  [status, code]: readonly [number, ErrorCode],
  values: (stage: Stage) => Readonly<Record<string, string>>,
): Case {
  return { route, because, status, code, ask: to(route, values) };
}
