/** One need, drawn as a line. */
import { BaseEdge, type Edge, type EdgeProps } from '@xyflow/react';
import { edgePath } from './edge-path.ts';
import type { Point } from './layout.ts';

type NeedEdgeData = Edge<{ readonly through: readonly Point[] }>;

export function NeedEdge({ sourceX, sourceY, targetX, targetY, data }: EdgeProps<NeedEdgeData>) {
  const from = { x: sourceX, y: sourceY };
  return <BaseEdge path={edgePath(from, { x: targetX, y: targetY }, data?.through ?? [])} />;
}
