/** A button for what takes a role: who has a lesser one sees it, and why it does nothing. */
import type { ReactNode } from 'react';
import { type Role, useMay, useSession } from '../session/session.ts';

interface GuardedButtonProps {
  readonly least: Role;
  readonly className?: string;
  /** Why it cannot be done now, whoever asks. */
  readonly unless?: string | undefined;
  readonly children: ReactNode;
  onClick(): void;
}

export function GuardedButton({ least, className = '', unless, children, onClick }: GuardedButtonProps) {
  const may = useMay(least);
  const { me } = useSession();
  const why = may ? unless : `takes the role ${least}; yours is ${me.role}`;
  return (
    <button type="button" className={className} disabled={why !== undefined} title={why} onClick={onClick}>
      {children}
      {why !== undefined && <span className="visually-hidden"> ({why})</span>}
    </button>
  );
}
