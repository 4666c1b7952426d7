import { durationText } from '../../lib/base/duration.ts';
import type { Surroundings } from '../surroundings.ts';

/** Says what a long command is doing. */
export type Stages = (text: string) => void;

/** With the time that the command has run, for somebody at a terminal; otherwise nothing. */
export function stagesOf({
  columns,
  complain,
}: Pick<Surroundings, 'columns' | 'complain'>): Stages {
  if (columns === undefined) return () => undefined;
  const begun = performance.now();
  return (text) => complain(`${durationText(performance.now() - begun).padStart(4)}  ${text}`);
}
