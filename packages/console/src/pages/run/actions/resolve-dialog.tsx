/** Form that resolves an effect that is in doubt or needs consent to be repeated. */
import { stepKey } from '@cairn/client';
import { useState } from 'react';
import type { Answer } from '../../../api/client.ts';
import { plannedAct } from '../../../parts/act.ts';
import { ActionDialog } from '../../../parts/dialog/action-dialog.tsx';
import { Details } from '../../../parts/json-view/details.tsx';
import { JsonInput } from '../../../parts/json-view/json-input.tsx';
import { readJson } from '../../../parts/json-view/json-text.ts';
import { Failure, Loading } from '../../../parts/states.tsx';
import { Text } from '../../../parts/value-text.tsx';
import { When } from '../../../parts/when.tsx';
import { ChoiceOf } from './choice.tsx';
import { useEffectRow } from './effect-row.ts';
import {
  type AskedOfEffect,
  askedOfEffect,
  type EffectCaller,
  lackOfResolution,
  RESOLUTION_CHOICES,
  type ResolutionName,
  resolveBody,
  resolveCli,
  takesResult,
} from './resolutions.ts';
import './actions.css';

interface ResolveDialogProps {
  readonly runId: string;
  readonly effectId: string;
  readonly caller: EffectCaller;
  /** A change reads the effect again. */
  readonly version?: number | undefined;
  /** The reason why it cannot be resolved any more. */
  readonly outdated?: string | undefined;
  /** Called before it closes, with what was done in words. */
  onDone?(done: string): void;
  onClose(): void;
}

export function ResolveDialog(props: ResolveDialogProps) {
  const { runId, effectId, caller, version, outdated, onDone, onClose } = props;
  const { data: row, error, refetch } = useEffectRow(runId, effectId, { version });
  const [chosen, setOutcome] = useState<ResolutionName>();
  const [text, setText] = useState('');
  const [note, setNote] = useState('');
  const asked = askedOfEffect(row?.blockedBy, caller);
  // The preselected answer calls no receiver, except for a confirmation, which asks for exactly that.
  const outcome: ResolutionName = chosen ?? (row?.blockedBy === 'confirmation' ? 're-execute' : 'recorded');
  const option = RESOLUTION_CHOICES[asked].find((one) => one.outcome === outcome);
  const filled = { asked, outcome, result: readJson(text) };
  const body = resolveBody({ ...filled, note });
  return (
    <ActionDialog
      title={row?.blockedBy === 'confirmation' ? 'Allow the call?' : 'Resolve the action'}
      verb={option?.verb ?? 'Send'}
      danger={option?.isDanger ?? false}
      outdated={outdated}
      lack={lackOfResolution(filled)}
      act={
        row && body
          ? plannedAct('POST', '/v1/runs/{id}/effects/{effectId}/resolve', {
              change: { params: { id: runId, effectId }, body },
              cli: resolveCli(runId, effectId, body),
            })
          : undefined
      }
      onDone={() => {
        if (option) onDone?.(option.done);
        onClose();
      }}
      onClose={onClose}
    >
      {row ? (
        <Asked row={row} />
      ) : row === null ? (
        <p>The effect was not found in the run.</p>
      ) : error ? (
        <Failure error={error} again={refetch} />
      ) : (
        <Loading what="the effect" />
      )}
      <ChoiceOf
        legend={LEGENDS[asked]}
        value={outcome}
        options={RESOLUTION_CHOICES[asked].map((one) => ({
          value: one.outcome,
          name: one.verb,
          meaning: one.meaning,
        }))}
        onChange={(one) => setOutcome(one)}
      />
      {takesResult(asked, outcome) && (
        <JsonInput
          label="Result, as JSON"
          text={text}
          onText={setText}
          rows={4}
          hint="The response of the receiver, in the form that the step expects. Write null if there was none."
        />
      )}
      <label>
        Note (how you know; optional)
        <textarea rows={2} maxLength={2_000} value={note} onChange={(event) => setNote(event.target.value)} />
      </label>
    </ActionDialog>
  );
}

const LEGENDS = {
  confirmation: 'It requires confirmation',
  repetition: 'It was done before',
  left: 'Check with the receiver first, then',
  doubt: 'Check with the receiver first, then',
  external_confirmation: 'It requires confirmation',
  external_doubt: 'Check with the receiver first, then',
} as const satisfies Record<AskedOfEffect, string>;

function Asked({ row }: { readonly row: Answer<'Effect'> }) {
  const step = stepKey(row);
  return (
    <section className="question" aria-label="The side effect">
      <p>
        Step <code>{<Text value={step} />}</code> {row.blockedBy === 'confirmation' ? 'would call' : 'called'}{' '}
        <code>
          <Text value={row.capabilityId} />
        </code>{' '}
        {row.blockedBy === 'doubt' && row.presumedAt === undefined && (
          <When at={row.calledAt ?? row.createdAt} />
        )}{' '}
        (attempt {row.attempt}) with:
      </p>
      {row.request === undefined ? (
        <p className="hint">The request is too long to be stored with the effect.</p>
      ) : (
        <Details value={row.request} label="The request" />
      )}
      {row.error && (
        <p className="hint">
          Known of it: <Text value={row.error} />
        </p>
      )}
    </section>
  );
}
