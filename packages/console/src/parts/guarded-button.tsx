/** Buttons for actions that require a role: without it they are disabled and show the reason. */
import { type ReactNode, useId, useLayoutEffect, useRef } from 'react';
import { type CallerRole, useMay, useSession } from '../session/session.ts';
import { focusIfLost } from './focus.ts';

interface GuardedButtonProps {
  readonly least: CallerRole;
  readonly className?: string;
  /** The reason why no role may do it now. */
  readonly unless?: string | undefined;
  /** Meaning of the button, shown on hover. */
  readonly what?: string;
  readonly children: ReactNode;
  onClick(): void;
}

export function GuardedButton({
  least,
  className = '',
  unless,
  what,
  children,
  onClick,
}: GuardedButtonProps) {
  const refused = useRefusal(least);
  const why = refused ?? unless;
  const whyId = useId();
  const button = (
    <button
      type="button"
      className={className}
      disabled={why !== undefined}
      title={why ?? what}
      aria-describedby={why && whyId}
      onClick={onClick}
    >
      {children}
    </button>
  );
  if (why === undefined) return button;
  return (
    <span className="row">
      {button}
      <span id={whyId} className="hint">
        {why}
      </span>
    </span>
  );
}

/** Undefined: the role allows it. */
function useRefusal(least: CallerRole): string | undefined {
  const { me } = useSession();
  return useMay(least) ? undefined : `requires the role ${least}; yours is ${me.role}`;
}

export interface ButtonOffer {
  /** Distinguishes buttons of one name; absent: the name. */
  readonly key?: string;
  readonly name: string;
  readonly className?: string | undefined;
  /** The reason why no role may do it now. */
  readonly unless?: string | undefined;
  /** Meaning of the button, shown on hover. */
  readonly what?: string | undefined;
  onClick(): void;
}

interface GuardedRowProps {
  /** Accessible name of the group. */
  readonly label: string;
  /** Absent: the offers themselves state the reasons. */
  readonly least?: CallerRole;
  readonly offers: readonly ButtonOffer[];
  /** Offers that become known later. They are last, so that they do not move the others. */
  readonly late?: readonly ButtonOffer[];
}

/** Several buttons. A reason that disables several of them is shown once. */
export function GuardedRow({ label, least = 'viewer', offers, late = [] }: GuardedRowProps) {
  const refused = useRefusal(least);
  const noteFocus = useFocusOfGone();
  const all = [...offers, ...late];
  const whyOf = ({ unless }: ButtonOffer) => refused ?? unless;
  const whys = [...new Set(all.flatMap((offer) => whyOf(offer) ?? []))];
  const id = useId();
  const button = (offer: ButtonOffer) => {
    const { key, name, className, what, onClick } = offer;
    const why = whyOf(offer);
    return (
      <button
        key={key ?? name}
        ref={noteFocus}
        type="button"
        className={className}
        disabled={why !== undefined}
        title={why ?? what}
        aria-describedby={why && `${id}-${whys.indexOf(why)}`}
        onClick={onClick}
      >
        {name}
      </button>
    );
  };
  return (
    <div className="offers">
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields, these are buttons */}
      <div className="row" role="group" aria-label={label}>
        {all.map(button)}
      </div>
      {whys.map((why, at) => (
        <p key={why} id={`${id}-${at}`} className="hint">
          {namesOf(all.filter((offer) => whyOf(offer) === why))}: {why}
        </p>
      ))}
    </div>
  );
}

const namesOf = (offers: readonly ButtonOffer[]) => offers.map(({ name }) => name).join(', ');

/**
 * A ref for buttons that moves the focus of a removed button to the page.
 *
 * A button such as Cancel disappears after its action, when its dialog returns the focus to it or later. React reports no
 * event for that, so the ref checks the button as it is removed.
 */
function useFocusOfGone() {
  const hadFocus = useRef(false);
  useLayoutEffect(() => {
    if (hadFocus.current) focusIfLost();
    hadFocus.current = false;
  });
  return (button: HTMLButtonElement) => () => {
    hadFocus.current ||= button === document.activeElement;
  };
}
