/**
 * Request for a successor from the choices of a person: the body of the preview and that of the
 * request have the same choices. Pure.
 */
import type { Answer } from '../../../api/client.ts';
import { option } from '../../../parts/command-text.ts';
import type { ParsedJson } from '../../../parts/json-view/json-text.ts';

export type Mode = 'resume' | 'replay' | 'fork';
export type PreviewBody = Answer<'PreviewBody'>;
/** From a step: it and its dependants run. From a checkpoint: steps that had completed by then are reused. */
export type SuccessorFrom = { readonly step: string } | { readonly checkpoint: number };

/** As chosen in the form. */
export interface Chosen {
  readonly mode: Mode;
  readonly from: SuccessorFrom | undefined;
  /** For a fork; default: that of the run. */
  readonly input: ParsedJson | undefined;
  /** For a fork; default: that of the run. */
  readonly planVersion: number | undefined;
  /** The successor takes over unread signals. */
  readonly carries: boolean;
}

/** Undefined while the other input is invalid. */
export function previewBody({ mode, from, input, planVersion, carries }: Chosen): PreviewBody | undefined {
  const where = { from, signals: carries ? ('carry' as const) : undefined };
  if (mode !== 'fork') return { mode, ...where };
  if (input !== undefined && input.kind !== 'value') return undefined;
  return { mode, ...where, input: input?.value, planVersion };
}

export function requestBody({ mode: _, ...asked }: PreviewBody, force: boolean) {
  return { ...asked, force: force || undefined };
}

/** The same for the command line. */
export function successorCli(
  runId: string,
  { mode, from, input, planVersion, signals }: PreviewBody,
  force: boolean,
) {
  const where =
    from === undefined
      ? []
      : 'step' in from
        ? option('from-step', from.step)
        : ['--from-checkpoint', String(from.checkpoint)];
  return [
    ...['runs', mode, runId, ...where],
    ...option('input', input === undefined ? undefined : JSON.stringify(input)),
    ...option('plan-version', planVersion?.toString()),
    ...(signals === undefined ? [] : ['--carry-signals']),
    ...(force ? ['--force'] : []),
  ];
}

/** As in the address: `step:verdict`, `checkpoint:12`. Undefined for anything else. */
export function fromOf(word: string | undefined): SuccessorFrom | undefined {
  const [kind, rest] =
    word === undefined ? [] : [word.slice(0, word.indexOf(':')), word.slice(word.indexOf(':') + 1)];
  if (kind === 'step' && rest) return { step: rest };
  return kind === 'checkpoint' && /^[1-9]\d{0,9}$/.test(rest ?? '')
    ? { checkpoint: Number(rest) }
    : undefined;
}

export function wordOf(from: SuccessorFrom): string {
  return 'step' in from ? `step:${from.step}` : `checkpoint:${from.checkpoint}`;
}
