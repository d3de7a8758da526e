/**
 * Stands in the place of a page that broke or could not be fetched, so that what stands around it stays. A page that was
 * open while the console was deployed anew asks for files that are gone.
 */
import { Component, type ReactNode } from 'react';

interface Props {
  readonly children: ReactNode;
}
interface State {
  readonly error?: { readonly thrown: unknown };
}

export class PageFault extends Component<Props, State> {
  override state: State = {};

  static getDerivedStateFromError(thrown: unknown): State {
    return { error: { thrown } };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (!error) return this.props.children;
    return (
      <div className="failure" role="alert">
        <p>
          <strong>This page cannot be shown</strong>
        </p>
        <p>{error.thrown instanceof Error ? error.thrown.message : String(error.thrown)}</p>
        <p>
          If the console was deployed anew since you opened it, loading it again helps. Nothing of a run is
          touched.
        </p>
        <button type="button" onClick={() => window.location.reload()}>
          Load again
        </button>
      </div>
    );
  }
}
