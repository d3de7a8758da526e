/**
 * Replaces a page that failed or could not be fetched, so that the navigation stays. A console that was open during a
 * deployment requests files that no longer exist.
 */

import { Component, type ReactNode } from 'react';
import { messageOf } from '../api/problem.ts';
import { useReached } from '../session/session.ts';

interface Props {
  readonly children: ReactNode;
}
interface FaultProps extends Props {
  /** See `Reached`. */
  readonly lostAt: number | undefined;
}
interface State {
  readonly error?: { readonly thrown: unknown };
}

export function PageFault({ children }: Props) {
  const { lostAt } = useReached();
  return <Fault lostAt={lostAt}>{children}</Fault>;
}

class Fault extends Component<FaultProps, State> {
  override state: State = {};

  static getDerivedStateFromError(thrown: unknown): State {
    return { error: { thrown } };
  }

  /** Fetches the page again by itself when the API responds again. */
  override componentDidUpdate({ lostAt }: FaultProps): void {
    const isReachableAgain = lostAt !== undefined && this.props.lostAt === undefined;
    if (isReachableAgain && this.state.error) window.location.reload();
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (!error) return this.props.children;
    return (
      <div className="failure" role="alert">
        <h1>This page cannot be shown</h1>
        <p>{messageOf(error.thrown)}</p>
        <p>
          {this.props.lostAt === undefined
            ? 'If the console was redeployed since you opened it, reload it. No run is affected.'
            : 'It is reloaded as soon as the API responds. No run is affected.'}
        </p>
        <button type="button" onClick={() => window.location.reload()}>
          Load again
        </button>
      </div>
    );
  }
}
