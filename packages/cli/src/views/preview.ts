/** Preview of a successor, as a page. Pure. */
import { stepKey } from '@cairn/client';
import type { Answer } from 'cairn/api/calls';
import type { OutputShape } from '../context.ts';
import { asCalled } from '../invocation.ts';
import type { Tone } from '../render/style.ts';
import { table } from '../render/table.ts';
import { clean } from '../render/width.ts';
import { section, signalTable } from './run-page.ts';

const WOULD: Readonly<Record<Answer<'SuccessorPreview'>['would'], string>> = {
  start_successor: 'would start a new run',
  unpark: 'would continue the run itself',
  nothing: 'would do nothing',
};

export function previewText(preview: Answer<'SuccessorPreview'>, shape: OutputShape): string {
  const { style, call } = shape;
  const { mode, would, planVersion, steps, effects, effectsCut, unread, blockers } = preview;
  const stops = blockers.map(
    ({ code, detail, help }) =>
      `  ${style.paint('bad', code)} ${clean(detail)}\n    ${style.dim(asCalled(clean(help), call))}\n`,
  );
  return [
    `${style.bold(mode)} of ${clean(preview.runId)} ${WOULD[would]} on v${planVersion}\n`,
    section('Obstacles', stops.join(''), shape),
    section('Steps', stepTable(steps, shape), shape),
    section(effectsCut ? 'Effects (not all are shown)' : 'Effects', effectTable(effects, shape), shape),
    section('Unread signals (--carry-signals carries them over)', signalTable(unread, shape), shape),
  ].join('');
}

function stepTable(steps: Answer<'SuccessorPreview'>['steps'], shape: OutputShape): string {
  return table(
    steps,
    [
      { title: 'STEP', of: ({ id }) => id, least: 12 },
      { title: 'KIND', of: ({ kind }) => (kind === 'step' ? '' : kind), dropOrder: 2 },
      {
        title: 'WOULD BE',
        of: ({ action }) => action,
        tone: ({ action }): Tone => (action === 'reused' ? 'good' : 'busy'),
      },
      {
        title: 'BECAUSE',
        of: ({ why, from }) =>
          why?.replaceAll('_', ' ') ?? (from ? `${from.runId} checkpoint ${from.checkpoint}` : ''),
        least: 12,
      },
      {
        title: 'ITEMS REUSED',
        of: ({ items }) => (items ? String(items) : ''),
        align: 'right',
        dropOrder: 1,
      },
    ],
    shape,
  );
}

const TONES: Readonly<Record<Answer<'SuccessorPreview'>['effects'][number]['action'], Tone>> = {
  reused: 'good',
  're-executed': 'warn',
  asked: 'warn',
  looked_up: 'plain',
};

function effectTable(effects: Answer<'SuccessorPreview'>['effects'], shape: OutputShape): string {
  return table(
    effects,
    [
      { title: 'CAPABILITY', of: ({ capabilityId }) => capabilityId, least: 12 },
      {
        title: 'STEP',
        of: stepKey,
        least: 10,
        dropOrder: 2,
      },
      {
        title: 'WOULD BE',
        of: ({ action }) => action.replace('_', ' '),
        tone: ({ action }) => TONES[action],
      },
      { title: 'BECAUSE', of: ({ why }) => why.replaceAll('_', ' '), dropOrder: 1 },
      { title: 'EFFECT', of: ({ effectId }) => effectId, dropOrder: 3 },
    ],
    shape,
  );
}
