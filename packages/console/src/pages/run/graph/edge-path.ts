/** The line from a step to one that needs it, around the steps between them. Pure. */
import { NODE_HEIGHT, type Point } from './layout.ts';

/** An SVG path: straight down beside each step that it passes, bent only between layers. */
export function edgePath(from: Point, to: Point, through: readonly Point[]): string {
  const half = NODE_HEIGHT / 2;
  let path = `M${place(from)}`;
  let at = from;
  const bendTo = (next: Point) => {
    const middle = (at.y + next.y) / 2;
    path += ` C${at.x} ${middle} ${next.x} ${middle} ${place(next)}`;
    at = next;
  };
  for (const { x, y } of through) {
    bendTo({ x, y: y - half });
    at = { x, y: y + half };
    path += ` L${place(at)}`;
  }
  bendTo(to);
  return path;
}

function place({ x, y }: Point): string {
  return `${x} ${y}`;
}
