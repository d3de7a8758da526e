/** Stack trace of an error, folded away. */
import { Text } from './value-text.tsx';

export function Stack({ trace }: { readonly trace: string }) {
  return (
    <details>
      <summary>Stack</summary>
      <pre>
        <Text value={trace} />
      </pre>
    </details>
  );
}
