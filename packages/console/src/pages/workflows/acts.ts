/** Actions on a workflow and on all of them, each as a request and as a command. Pure. */
import { planned } from '../../api/client.ts';
import { type PlannedAct, reasonOf } from '../../parts/act.ts';
import { option } from '../../parts/command-text.ts';

interface NewRun {
  readonly type: string;
  readonly input: unknown;
  /** Empty: one of its own. */
  readonly threadId: string;
}

export function startRun({ type, input, threadId }: NewRun): PlannedAct<'POST', '/v1/runs'> {
  const thread = threadId === '' ? {} : { threadId };
  return {
    planned: planned('POST', '/v1/runs', { body: { type, input, ...thread } }),
    cli: [
      ...['runs', 'start', type],
      ...option('input', JSON.stringify(input)),
      ...(threadId === '' ? [] : option('thread', threadId)),
    ],
  };
}

export function pauseWorkflow(type: string, typed: string): PlannedAct<'POST', '/v1/workflows/{type}/pause'> {
  const why = reasonOf(typed);
  return {
    planned: planned('POST', '/v1/workflows/{type}/pause', { params: { type }, body: why }),
    cli: ['pause', type, ...(why.reason === undefined ? [] : option('reason', why.reason))],
  };
}

export function unpauseWorkflow(type: string): PlannedAct<'POST', '/v1/workflows/{type}/unpause'> {
  return {
    planned: planned('POST', '/v1/workflows/{type}/unpause', { params: { type } }),
    cli: ['unpause', type],
  };
}

export function setKillSwitch(killSwitch: boolean): PlannedAct<'PUT', '/v1/runtime'> {
  return {
    planned: planned('PUT', '/v1/runtime', { body: { killSwitch } }),
    cli: [killSwitch ? 'pause' : 'unpause', '--everything'],
  };
}
