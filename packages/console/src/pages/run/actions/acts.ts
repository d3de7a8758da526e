/** Actions on a run with a form of few fields, each as a request and as a command. Pure. */
import { planned } from '../../../api/client.ts';
import { type PlannedAct, reasonOf } from '../../../parts/act.ts';
import { option } from '../../../parts/command-text.ts';
import type { ParsedJson } from '../../../parts/json-view/json-text.ts';

export function cancelRun(id: string, typed: string): PlannedAct<'POST', '/v1/runs/{id}/cancel'> {
  const why = reasonOf(typed);
  return {
    planned: planned('POST', '/v1/runs/{id}/cancel', { params: { id }, body: why }),
    cli: ['runs', 'cancel', id, ...(why.reason === undefined ? [] : option('reason', why.reason))],
  };
}

/** Undefined without a reason, which tells others why the run is suspended. */
export function suspendRun(
  id: string,
  typed: string,
): PlannedAct<'POST', '/v1/runs/{id}/suspend'> | undefined {
  const { reason } = reasonOf(typed);
  if (reason === undefined) return undefined;
  return {
    planned: planned('POST', '/v1/runs/{id}/suspend', { params: { id }, body: { reason } }),
    cli: ['runs', 'suspend', id, ...option('reason', reason)],
  };
}

export function continueRun(id: string): PlannedAct<'POST', '/v1/runs/{id}/continue'> {
  return {
    planned: planned('POST', '/v1/runs/{id}/continue', { params: { id }, body: {} }),
    cli: ['runs', 'continue', id],
  };
}

/** Undefined without a reason, which tells others when to release it. */
export function holdRun(id: string, typed: string): PlannedAct<'POST', '/v1/runs/{id}/hold'> | undefined {
  const { reason } = reasonOf(typed);
  if (reason === undefined) return undefined;
  return {
    planned: planned('POST', '/v1/runs/{id}/hold', { params: { id }, body: { reason } }),
    cli: ['runs', 'hold', id, ...option('reason', reason)],
  };
}

export function releaseRun(id: string): PlannedAct<'POST', '/v1/runs/{id}/release-hold'> {
  return {
    planned: planned('POST', '/v1/runs/{id}/release-hold', { params: { id } }),
    cli: ['runs', 'release', id],
  };
}

/** @param apply false: it only says what it would change */
export function repairRun(id: string, apply: boolean): PlannedAct<'POST', '/v1/runs/{id}/repair'> {
  return {
    planned: planned('POST', '/v1/runs/{id}/repair', { params: { id }, query: { apply } }),
    cli: ['repair', id, ...(apply ? ['--apply'] : [])],
  };
}

/** Undefined without a step that waits, or a reason: that is the message of its error. */
export function failWait(
  id: string,
  stepId: string | undefined,
  typed: string,
): PlannedAct<'POST', '/v1/runs/{id}/waits/{stepId}/fail'> | undefined {
  const { reason } = reasonOf(typed);
  if (reason === undefined || stepId === undefined) return undefined;
  return {
    planned: planned('POST', '/v1/runs/{id}/waits/{stepId}/fail', {
      params: { id, stepId },
      body: { reason },
    }),
    cli: ['runs', 'fail-wait', id, stepId, ...option('reason', reason)],
  };
}

interface SignalInput {
  readonly name: string;
  /** Empty: any of that name. */
  readonly key: string;
  readonly data: ParsedJson;
}

/** Undefined while it has no name, or its data is no JSON. */
export function signalRun(
  id: string,
  { name, key, data }: SignalInput,
): PlannedAct<'POST', '/v1/runs/{id}/signals'> | undefined {
  if (name.trim() === '' || data.kind === 'bad') return undefined;
  const hasData = data.kind === 'value';
  return {
    planned: planned('POST', '/v1/runs/{id}/signals', {
      params: { id },
      body: { name, ...(key === '' ? {} : { key }), ...(hasData ? { data: data.value } : {}) },
    }),
    cli: [
      ...['runs', 'signal'],
      ...(key === '' ? [] : option('for', key)),
      ...(hasData ? option('data', JSON.stringify(data.value)) : []),
      // The arguments after it are not options, whatever their names.
      ...(name.startsWith('-') ? ['--'] : []),
      ...[id, name],
    ],
  };
}
