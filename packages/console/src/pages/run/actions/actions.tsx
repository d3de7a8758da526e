/** Actions of the signed-in person on the run: a button each, and the form that the address names. */
import { declaredType } from '@cairn/client';
import { useLayoutEffect, useRef, useState } from 'react';
import { focusIfLost } from '../../../parts/focus.ts';
import { GuardedButton } from '../../../parts/guarded-button.tsx';
import { type Role, useMay } from '../../../session/session.ts';
import { StartDialog } from '../../workflows/start.tsx';
import type { Run } from '../live/events.ts';
import { useRunData } from '../live/run-data.ts';
import { ActForm } from './act-form.tsx';
import { type Offer, offersOf } from './offers.ts';
import { useOpenAct } from './use-act.ts';
import { useRetention } from './use-hold.ts';
import './actions.css';

export function RunActions() {
  const { id, run } = useRunData();
  const may = useMayEach();
  const retention = useRetention(id);
  if (!run) return null;
  const offers = offersOf({ run, may, isHeld: retention && retention.legalHold !== undefined });
  return (
    <>
      <div className="row">
        <OfferRow offers={offers} label="What can be done with the run" />
        <RunAgain run={run} />
      </div>
      <ActForm run={run} />
    </>
  );
}

/** A new run of the newest version with the same input: nothing of this run is reused. */
function RunAgain({ run: { type, input, inputRef } }: { readonly run: Run }) {
  const [isOpen, setOpen] = useState(false);
  const unless =
    declaredType(type) !== type
      ? 'the run is a part of a loop: start the workflow with the loop'
      : inputRef === undefined
        ? undefined
        : 'the input is too large for a form; use Fork';
  return (
    <>
      <GuardedButton least="submitter" unless={unless} onClick={() => setOpen(true)}>
        Run again
      </GuardedButton>
      {isOpen && <StartDialog type={type} input={input ?? {}} onClose={() => setOpen(false)} />}
    </>
  );
}

/** The buttons that answer one wait. */
export function AnswerButtons({ waitId }: { readonly waitId: string }) {
  const { run } = useRunData();
  const may = useMayEach();
  const wait = run?.waits.find(({ id }) => id === waitId);
  if (!run || !wait) return null;
  const offers = offersOf({ run: { ...run, waits: [wait] }, may, isHeld: undefined });
  const answers = offers.filter(
    ({ about }) => about.wait === waitId || (about.effect !== undefined && about.effect === wait.effectId),
  );
  return <OfferRow offers={answers} label="Answers" />;
}

function useMayEach(): (role: Role) => boolean {
  const may: Readonly<Record<Role, boolean>> = {
    viewer: true,
    submitter: useMay('submitter'),
    operator: useMay('operator'),
    admin: useMay('admin'),
    installation: useMay('installation'),
  };
  return (role) => may[role];
}

function OfferRow({ offers, label }: { readonly offers: readonly Offer[]; readonly label: string }) {
  const open = useOpenAct();
  const refusals = [...new Set(offers.flatMap(({ refused }) => refused ?? []))];
  const hasFocus = useRef(false);
  // Cancel is no offer any more once it is done, a moment after its dialog has returned the focus to it.
  useLayoutEffect(() => {
    if (hasFocus.current) focusIfLost();
  });
  return (
    <div className="offers">
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields, these are buttons */}
      <div
        className="row"
        role="group"
        aria-label={label}
        onFocus={() => {
          hasFocus.current = true;
        }}
        onBlur={() => {
          hasFocus.current = false;
        }}
      >
        {offers.map(({ act, about, name, kind, refused }) => (
          <button
            key={`${act} ${about.wait ?? about.effect ?? ''}`}
            type="button"
            className={kind === 'answer' ? 'primary' : kind === 'danger' ? 'quiet-danger' : undefined}
            disabled={refused !== undefined}
            title={refused}
            onClick={() => open(act, about)}
          >
            {name}
          </button>
        ))}
      </div>
      {refusals.map((refusal) => (
        <p key={refusal} className="hint">
          {namesOf(offers, refusal)}: {refusal}
        </p>
      ))}
    </div>
  );
}

function namesOf(offers: readonly Offer[], refusal: string): string {
  return offers
    .filter(({ refused }) => refused === refusal)
    .map(({ name }) => name)
    .join(', ');
}
