/** Buttons for actions that require a role: without it they are disabled and show the reason. */
import { type ReactNode, useId } from 'react';
import { type CallerRole, useMay, useSession } from '../session/session.ts';

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

interface ButtonOffer {
  readonly name: string;
  readonly className?: string;
  /** The reason why no role may do it now. */
  readonly unless?: string | undefined;
  onClick(): void;
}

interface GuardedRowProps {
  /** Accessible name of the group. */
  readonly label: string;
  readonly least: CallerRole;
  readonly offers: readonly ButtonOffer[];
}

/** Several for the same role: what stands in the way of some of them is said once. */
export function GuardedRow({ label, least, offers }: GuardedRowProps) {
  const refused = useRefusal(least);
  const whyOf = ({ unless }: ButtonOffer) => refused ?? unless;
  const whys = [...new Set(offers.flatMap((offer) => whyOf(offer) ?? []))];
  const id = useId();
  return (
    <div className="guarded-row">
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields, these are buttons */}
      <div className="row" role="group" aria-label={label}>
        {offers.map((offer) => {
          const why = whyOf(offer);
          return (
            <button
              key={offer.name}
              type="button"
              className={offer.className}
              disabled={why !== undefined}
              title={why}
              aria-describedby={why && `${id}-${whys.indexOf(why)}`}
              onClick={offer.onClick}
            >
              {offer.name}
            </button>
          );
        })}
      </div>
      {whys.map((why, at) => (
        <p key={why} id={`${id}-${at}`} className="hint">
          {namesOf(offers.filter((offer) => whyOf(offer) === why))}: {why}
        </p>
      ))}
    </div>
  );
}

const namesOf = (offers: readonly ButtonOffer[]) => offers.map(({ name }) => name).join(', ');
