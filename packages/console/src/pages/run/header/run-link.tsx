/** A link to another run, by its id. */
import { Link } from 'wouter';

export function RunLink({ id, query = '' }: { readonly id: string; readonly query?: string }) {
  return (
    <Link href={`/runs/${encodeURIComponent(id)}${query}`} className="mono">
      {id}
    </Link>
  );
}
