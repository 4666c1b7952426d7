import { own } from '../gather-host.ts';
import type { SourceGroup } from '../source.ts';
import { file } from './file.ts';
import { journal } from './journal.ts';
import { present } from './present.ts';

/** Ignition's actions at the first boot; never a config. */
export const ignition: SourceGroup = {
  name: 'ignition',
  deadlineMs: 5000,
  async list(host) {
    const at = (name: string) => own(host, `ignition/${name}`);
    return [
      ...(await present([
        file(at('result.json'), host.paths.at('/etc/.ignition-result.json'), { format: 'json' }),
      ])),
      // From all boots: it ran in the first one.
      journal(host, at('journal.log'), ['--identifier=ignition', '--lines=10000']),
    ];
  },
};
