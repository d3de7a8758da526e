/** Actions on the run: a button for each, and the form that the address names. */
import { declaredType } from '@cairn/client';
import { useState } from 'react';
import { type ButtonOffer, GuardedRow } from '../../../parts/guarded-button.tsx';
import { useMayEach } from '../../../session/session.ts';
import { useQueryState } from '../../../shell/address.ts';
import { StartDialog } from '../../workflows/start.tsx';
import { type Run, stepIdOf } from '../live/events.ts';
import { useRunData } from '../live/run-data.ts';
import { MODES } from '../successors/words.ts';
import { ActForm } from './act-form.tsx';
import { type Offer, offersOf, requires } from './offers.ts';
import { type Act, useOpenAct } from './use-act.ts';
import { useRetention } from './use-hold.ts';
import './actions.css';

/** Meanings of the buttons whose names do not say it, shown on hover. */
const MEANINGS: Partial<Readonly<Record<Act, string>>> = {
  signal: 'Send data to this run alone.',
  suspend: 'No step starts until the run is continued.',
  cancel: 'End the run as cancelled.',
  resume: MODES.resume.what,
  replay: MODES.replay.what,
  fork: MODES.fork.what,
  hold: 'Keep the run from being deleted until the hold is released.',
};

export function RunActions() {
  const { id, run, graph, isUndecidable } = useRunData();
  const may = useMayEach();
  const retention = useRetention(id);
  const [selected] = useQueryState('step');
  const [isStarting, setStarting] = useState(false);
  if (!run) return null;
  const isOnHold = retention && retention.legalHold !== undefined;
  // A fork from an operation or an item starts at its step.
  const selectedStep = graph?.nodes?.find(
    (node) => selected !== undefined && node.id === stepIdOf(selected),
  )?.id;
  const offers = offersOf({ run, may, isOnHold, isUndecidable, selectedStep });
  const { type, input } = run;
  const again: ButtonOffer = {
    name: 'Run again',
    what: 'Start a new run of the newest version with the same input. Nothing of this run is reused.',
    unless: may('submitter') ? whyNotAgain(run) : requires('submitter'),
    onClick: () => setStarting(true),
  };
  return (
    <>
      <OfferRow offers={offers} again={again} label="What can be done with the run" />
      <ActForm run={run} />
      {isStarting && <StartDialog type={type} input={input ?? {}} onClose={() => setStarting(false)} />}
    </>
  );
}

/** The reason why the workflow of the run cannot be started with its input in a form. */
function whyNotAgain({ type, inputRef }: Pick<Run, 'type' | 'inputRef'>): string | undefined {
  if (declaredType(type) !== type) return 'the run is a part of a loop: start the workflow with the loop';
  return inputRef === undefined ? undefined : 'the input is too large for a form; use Fork';
}

export function AnswerButtons({ waitId }: { readonly waitId: string }) {
  const { run, isUndecidable } = useRunData();
  const may = useMayEach();
  const wait = run?.waits.find(({ id }) => id === waitId);
  if (!run || !wait) return null;
  const offers = offersOf({ run: { ...run, waits: [wait] }, may, isOnHold: undefined, isUndecidable });
  const answers = offers.filter(
    ({ about }) => about.wait === waitId || (about.effect !== undefined && about.effect === wait.effectId),
  );
  return <OfferRow offers={answers} label="Answers" />;
}

interface OfferRowProps {
  readonly offers: readonly Offer[];
  /** Accessible name of the group. */
  readonly label: string;
  readonly again?: ButtonOffer | undefined;
}

/** Draws the buttons. Those of the hold are late, because the hold is read separately. */
function OfferRow({ offers, label, again }: OfferRowProps) {
  const open = useOpenAct();
  const isOfHold = ({ act }: Offer) => act === 'hold' || act === 'release';
  const button = ({ act, about, name, kind, refused }: Offer): ButtonOffer => ({
    key: `${act} ${about.wait ?? about.effect ?? ''}`,
    name,
    className: kind === 'answer' ? 'primary' : kind === 'danger' ? 'quiet-danger' : undefined,
    unless: refused,
    what: MEANINGS[act],
    onClick: () => open(act, about),
  });
  return (
    <GuardedRow
      label={label}
      offers={[...offers.filter((offer) => !isOfHold(offer)).map(button), ...(again ? [again] : [])]}
      late={offers.filter(isOfHold).map(button)}
    />
  );
}
