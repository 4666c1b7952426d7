/** What identifies a node: for the hosts of a volume, and for the URL where it asks for one. */
import t from 'tap';
import { urlToAsk } from '../../../../agents/reconfigure/ask-url.ts';
import { readHostFacts } from '../../../../agents/reconfigure/host-facts.ts';
import { knownNode } from '../../../../agents/reconfigure/known-node.ts';
import { readFactoryPolicy } from '../../../../lib/relocation/relocatable/policy.ts';
import { factoryHost } from './site-host.ts';

t.test('a serial number that many machines have is in no fact and in no URL', async (t) => {
  const host = await factoryHost(t);
  for (const [name, text] of Object.entries({
    product_serial: 'None',
    board_serial: 'Default string',
    chassis_serial: 'To Be Filled By O.E.M.',
    product_uuid: '03000200-0400-0500-0006-000700080009',
  })) {
    host.write(`/sys/class/dmi/id/${name}`, `${text}\n`);
  }
  const policy = await readFactoryPolicy(host.paths);
  const node = policy && (await knownNode(host.paths, policy));
  if (policy === undefined || node === undefined) throw new Error('no factory');
  const facts = () => readHostFacts(host.paths, node, policy);
  const url = async () => urlToAsk(host.paths, { siteUrl: 'https://f.test' }, await facts());
  t.same((await facts()).identifiers, ['52:54:00:12:34:56']);
  t.equal(await url(), 'https://f.test/52-54-00-12-34-56.site');
  host.write('/sys/class/dmi/id/chassis_serial', 'CZ1234ABCD\n');
  t.same((await facts()).identifiers, ['cz1234abcd', '52:54:00:12:34:56']);
  t.equal(await url(), 'https://f.test/cz1234abcd.site');
});
