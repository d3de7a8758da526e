/** Stack trace of an error, folded away, under the causes that its message does not name. */

import { Text } from '../value-text.tsx';
import { causesIn } from './causes-in.ts';

interface StackProps {
  readonly trace: string;
  /** The message of the error, which is shown beside it. */
  readonly message: string;
}

export function Stack({ trace, message }: StackProps) {
  return (
    <>
      {causesIn(trace, message).map((cause) => (
        <span key={cause} className="cause">
          <span className="dim">Caused by</span> <Text value={cause} max={300} />
        </span>
      ))}
      <details>
        <summary>Stack</summary>
        <pre>
          <Text value={trace} />
        </pre>
      </details>
    </>
  );
}
