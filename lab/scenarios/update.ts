import { patches, Updates, updateThatFails, updateThatSettles } from '../updates.ts';
import { allInOne } from './aio.ts';

/** An all-in-one host that is updated, and one whose update does not settle and loses its power twice. */
export const update = allInOne((run, context) => {
  const updates = new Updates(run, context, patches);
  return [...updateThatSettles(updates), ...updateThatFails(updates)];
});
