/**
 * `npm run test:relocate [-- [--resume] NAME...]`: a node of the factory at its sites, with everything that can go
 * wrong there. `lab/out/relocate.json` has the table, after each scenario; `--resume` leaves out the scenarios that
 * have passed in it.
 * The node of the factory is kept in `lab/out/relocate-factory` until all have passed.
 */
import { removeFactoryNode } from '../../lab/relocate/factory.ts';
import { relocationRows, relocations } from '../../lab/relocate/index.ts';
import { runFaultTable } from '../faults/run-table.ts';

const options = { file: 'relocate.json', deadlineMinutes: 75, demanded: relocationRows };
if (await runFaultTable(Object.keys(relocations), options)) await removeFactoryNode('containers');
