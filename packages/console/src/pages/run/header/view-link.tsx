/** A link to another view of the same run: it changes only its own parameters of the address. */
import type { ReactNode } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { changedQuery, type QueryChanges } from '../../../shell/query-text.ts';

interface ViewLinkProps {
  readonly to: QueryChanges;
  readonly children: ReactNode;
  readonly className?: string;
  readonly current?: boolean;
}

export function ViewLink({ to, children, className, current }: ViewLinkProps) {
  const [path] = useLocation();
  const query = changedQuery(useSearch(), to);
  return (
    <Link
      href={query === '' ? path : `${path}?${query}`}
      {...(className === undefined ? {} : { className })}
      aria-current={current ? 'page' : undefined}
    >
      {children}
    </Link>
  );
}
