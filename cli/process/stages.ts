import { durationText } from '../../lib/base/duration.ts';
import type { Surroundings } from '../surroundings.ts';

/** Says what a long command is doing. */
export type Stages = (text: string) => void;

/** With the time since the program was started, for somebody at a terminal; otherwise nothing. */
export const stagesOf =
  ({ columns, complain }: Pick<Surroundings, 'columns' | 'complain'>): Stages =>
  (text) => {
    if (columns !== undefined) complain(`${durationText(performance.now()).padStart(4)}  ${text}`);
  };
