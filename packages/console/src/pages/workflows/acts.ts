/** Actions on a workflow and on all of them, each as a request and as a command. Pure. */
import { plannedAct, reasonOf } from '../../parts/act.ts';
import { option } from '../../parts/command-text.ts';

interface NewRun {
  readonly type: string;
  readonly input: unknown;
  /** Empty: one of its own. */
  readonly threadId: string;
}

export function startRun({ type, input, threadId: typed }: NewRun) {
  const threadId = typed === '' ? undefined : typed;
  return plannedAct('POST', '/v1/runs', {
    change: { body: { type, input, threadId } },
    cli: ['runs', 'start', type, ...option('input', JSON.stringify(input)), ...option('thread', threadId)],
  });
}

export function pauseWorkflow(type: string, typed: string) {
  const body = reasonOf(typed);
  const cli = ['pause', type, ...option('reason', body.reason)];
  return plannedAct('POST', '/v1/workflows/{type}/pause', { change: { params: { type }, body }, cli });
}

export function unpauseWorkflow(type: string) {
  return plannedAct('POST', '/v1/workflows/{type}/unpause', {
    change: { params: { type } },
    cli: ['unpause', type],
  });
}

export function setKillSwitch(killSwitch: boolean) {
  const cli = [killSwitch ? 'pause' : 'unpause', '--everything'];
  return plannedAct('PUT', '/v1/runtime', { change: { body: { killSwitch } }, cli });
}
