/** What an Ignition config brings to a host that continues the cluster of a lost one. */
import t from 'tap';
import {
  lostHostPlaces,
  lostHostText,
  readLostHost,
} from '../../../../lib/change/identity/lost-host.ts';
import { testHost } from '../../agents/host/host.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';

t.test('a request is read as it was written, and none is none', async (t) => {
  const host = testHost(t);
  t.equal(await readLostHost(host.paths), undefined);
  const { request, backup, folder } = lostHostPlaces(host.paths);
  t.equal(backup, `${folder}/backup.tar`);
  for (const keepsAuthorities of [true, false]) {
    host.write(request, lostHostText({ keepsAuthorities }));
    t.strictSame(await readLostHost(host.paths), { schemaVersion: 1, keepsAuthorities });
  }
});

t.test('a damaged request is not taken for none', async (t) => {
  const host = testHost(t);
  for (const text of [
    '',
    '{}',
    '{"schemaVersion":1}',
    '{"schemaVersion":2,"keepsAuthorities":true}',
  ]) {
    host.write(lostHostPlaces(host.paths).request, text);
    t.match(
      await thrownBy(readLostHost(host.paths)),
      { kind: 'fatal', message: /expected a request as "sno create restore-ignition" writes it/ },
      text,
    );
  }
});
