/** A site volume is taken once, wherever its agent is interrupted. */
import { readdirSync } from 'node:fs';
import t from 'tap';
import { arrive } from '../../../../agents/reconfigure/arrive.ts';
import { usedVolumes } from '../../../../lib/change/site/request.ts';
import { killedAtAnyMoment } from '../../engine/steps/killed-at-any-moment.ts';
import type { TestHost } from '../host/host.ts';
import { factoryHost, insert, REQUEST, STATE } from './site-host.ts';

const RUN = '/run/sno-agents/reconfigure';
const CONFIG = `${STATE}/site/site-config.yaml`;
const signal = new AbortController().signal;
const look = (host: TestHost) => arrive(host.paths, signal);

t.test('interrupted at any moment, the same volume is carried out afterwards, once', async (t) => {
  const host = await factoryHost(t);
  await insert(host);
  let id = '';
  await killedAtAnyMoment(t, {
    prepare() {
      for (const folder of [STATE, RUN]) if (host.has(folder)) host.remove(folder);
      // Of a medium before, whose agent was killed: its files are not mixed with the next one's.
      host.write(`${RUN}/medium/site-config.yaml`, 'of another medium');
      host.write(`${STATE}/result-recipient.txt`, 'of another volume', 0o600);
      return host;
    },
    async run() {
      const arrival = await look(host);
      if (arrival.kind !== 'request') throw new Error(arrival.note);
      id = arrival.request.id;
    },
    allowed(_, when) {
      // It is in memory.
      if (when.startsWith('power cut') && host.has(RUN)) host.remove(RUN);
    },
    async result() {
      const again = await look(host);
      return {
        isSame: again.kind === 'request' && again.request.id === id,
        used: (await usedVolumes(host.paths)).map(({ serial }) => serial),
        config: host.read(CONFIG),
        recipient: host.has(`${STATE}/result-recipient.txt`),
        modes: [REQUEST, CONFIG].map((path) => host.mode(path)),
        copies: host.has(RUN) ? readdirSync(host.at(RUN)) : [],
      };
    },
    least: 30,
    isDurable: true,
  });
});
