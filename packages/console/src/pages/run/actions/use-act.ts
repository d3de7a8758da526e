/**
 * The open form on the page of a run. It is kept in the address (`?do=replay&from=step:verdict`), so that a link can open a
 * form, and Back closes it. A closed form leaves no history entry.
 */
import { useCallback } from 'react';
import { useQueryChange, useQueryReturn, useQueryState } from '../../../shell/address.ts';

const ACTS = [
  'decide',
  'resolve',
  'signal',
  'fail',
  'cancel',
  'suspend',
  'continue',
  'resume',
  'replay',
  'fork',
  'hold',
  'release',
] as const;
export type Act = (typeof ACTS)[number];

/** Subject of the form. */
export interface About {
  /** Id of a wait: for `decide`, and for `signal` of an event that is waited for. */
  readonly wait?: string;
  /** Id of an effect: for `resolve`. */
  readonly effect?: string;
  /** `step:verdict` or `checkpoint:12`: for successors. */
  readonly from?: string;
}

const NOTHING = { do: undefined, wait: undefined, from: undefined };

export function useOpenAct(): (act: Act, about?: About) => void {
  const change = useQueryChange();
  return useCallback((act, about = {}) => change({ ...NOTHING, ...about, do: act }), [change]);
}

export function useAct(): { readonly act: Act | undefined; readonly about: About; close(): void } {
  const [word] = useQueryState('do');
  const [wait] = useQueryState('wait');
  const [effect] = useQueryState('effect');
  const [from] = useQueryState('from');
  const back = useQueryReturn();
  const close = useCallback(() => back(NOTHING), [back]);
  const about = {
    ...(wait === undefined ? {} : { wait }),
    ...(effect === undefined ? {} : { effect }),
    ...(from === undefined ? {} : { from }),
  };
  return { act: ACTS.find((act) => act === word), about, close };
}
