/** Actions on a run with a form of few fields, each as a request and as a command. Pure. */
import { plannedAct, reasonOf } from '../../../parts/act.ts';
import { option } from '../../../parts/command-text.ts';
import type { ParsedJson } from '../../../parts/json-view/json-text.ts';

export function cancelRun(id: string, typed: string) {
  const body = reasonOf(typed);
  const cli = ['runs', 'cancel', id, ...option('reason', body.reason)];
  return plannedAct('POST', '/v1/runs/{id}/cancel', { change: { params: { id }, body }, cli });
}

/** Undefined without a reason, which tells others why the run is suspended. */
export function suspendRun(id: string, typed: string) {
  const { reason } = reasonOf(typed);
  if (reason === undefined) return undefined;
  const cli = ['runs', 'suspend', id, ...option('reason', reason)];
  return plannedAct('POST', '/v1/runs/{id}/suspend', { change: { params: { id }, body: { reason } }, cli });
}

export function continueRun(id: string) {
  const cli = ['runs', 'continue', id];
  return plannedAct('POST', '/v1/runs/{id}/continue', { change: { params: { id }, body: {} }, cli });
}

/** Undefined without a reason, which tells others when to release it. */
export function holdRun(id: string, typed: string) {
  const { reason } = reasonOf(typed);
  if (reason === undefined) return undefined;
  const cli = ['runs', 'hold', id, ...option('reason', reason)];
  return plannedAct('POST', '/v1/runs/{id}/hold', { change: { params: { id }, body: { reason } }, cli });
}

export function releaseRun(id: string) {
  const cli = ['runs', 'release', id];
  return plannedAct('POST', '/v1/runs/{id}/release-hold', { change: { params: { id } }, cli });
}

/** @param apply false: it only says what it would change */
export function repairRun(id: string, apply: boolean) {
  const cli = ['repair', id, ...(apply ? ['--apply'] : [])];
  return plannedAct('POST', '/v1/runs/{id}/repair', { change: { params: { id }, query: { apply } }, cli });
}

/** Undefined without a step that waits, or a reason: that is the message of its error. */
export function failWait(id: string, stepId: string | undefined, typed: string) {
  const { reason } = reasonOf(typed);
  if (reason === undefined || stepId === undefined) return undefined;
  const cli = ['runs', 'fail-wait', id, stepId, ...option('reason', reason)];
  const params = { id, stepId };
  return plannedAct('POST', '/v1/runs/{id}/waits/{stepId}/fail', {
    change: { params, body: { reason } },
    cli,
  });
}

interface SignalInput {
  readonly name: string;
  /** Empty: any of that name. */
  readonly key: string;
  readonly data: ParsedJson;
}

/** Undefined while it has no name, or its data is no JSON. */
export function signalRun(id: string, { name, key: typedKey, data }: SignalInput) {
  if (name.trim() === '' || data.kind === 'bad') return undefined;
  const key = typedKey === '' ? undefined : typedKey;
  const value = data.kind === 'value' ? { data: data.value } : undefined;
  return plannedAct('POST', '/v1/runs/{id}/signals', {
    change: { params: { id }, body: { name, key, ...value } },
    cli: [
      ...['runs', 'signal'],
      ...option('for', key),
      ...option('data', value && JSON.stringify(value.data)),
      // The arguments after `--` are not read as options.
      ...(name.startsWith('-') ? ['--'] : []),
      ...[id, name],
    ],
  });
}
