/** Where a sealed host asks whose factory has left that to the network of the site. */
import t from 'tap';
import { urlByDhcp, urlIn } from '../../../../agents/reconfigure/dhcp-url.ts';
import { runReconfigure } from '../../../../agents/reconfigure/main.ts';
import { stopClock } from '../../clients/kube/stopped-clock.ts';
import { factoryHost } from './site-host.ts';

const option = (value: string) =>
  `DHCP4.OPTION[1]:expiry = 1795916958\nDHCP4.OPTION[2]:private_224 = ${value}\nDHCP4.OPTION[3]:routers = 192.0.2.1\n`;
const hex = (text: string) =>
  Buffer.from(text, 'latin1')
    .toString('hex')
    .replace(/..(?!$)/g, '$&:');

t.test('the address is in bytes or as a text, and anything else is none', async (t) => {
  const url = 'https://sites.example/volumes';
  for (const [options, found] of [
    [option(hex(url)), url],
    [option(hex(`${url}\0`)), url],
    [option(url), url],
    [option(hex('http://192.0.2.1:8090')), 'http://192.0.2.1:8090'],
    [option(hex('file:///etc/shadow')), undefined],
    [option(hex('https://user:secret@sites.example')), undefined],
    [option(hex('https://sites.example/a b')), undefined],
    [option(hex('https://sites.example/\u001b[2J')), undefined],
    [option(hex('https://')), undefined],
    [option(hex('https://[2001:db8::1')), undefined],
    [option(hex(`https://sites.example/${'x'.repeat(2000)}`)), undefined],
    [option('68:7'), undefined],
    [option(''), undefined],
    ['DHCP4.OPTION[1]:routers = private_224 = https://sites.example\n', undefined],
    ['', undefined],
  ] as const) {
    t.equal(urlIn(options), found, JSON.stringify(options.slice(0, 90)));
  }
});

t.test('a sealed host asks there, or says that the network names nothing', async (t) => {
  const host = await factoryHost(t);
  const path = '/etc/sno-agents/factory.json';
  const policy = JSON.parse(host.read(path));
  host.write(path, JSON.stringify({ ...policy, siteUrl: 'dhcp' }));
  host.write('/etc/sno-agents/sealed');
  host.write('/sys/class/dmi/id/product_serial', 'CZ1234ABCD\n');
  host.programs.give('nm-online', 'true');
  host.programs.give('curl', 'exit 22');
  const run = async (options: string) => {
    host.programs.give('nmcli', `cat <<'END'\n${options}\nEND`);
    const said: string[] = [];
    const write = (text: string) => void said.push(text);
    await runReconfigure(host.paths, ['run'], { write, isJournal: false });
    return said.join('');
  };
  t.match(
    await run('DHCP4.OPTION[1]:routers = 192.0.2.1'),
    'no site volume is inserted\nDHCP names no URL for a site volume (option 224)\n',
  );
  t.match(
    await run(option(hex('https://sites.example'))),
    'no site volume from https://sites.example/cz1234abcd.site: ',
  );
});

t.test('an adapter that has no lease yet is waited for', async (t) => {
  const host = await factoryHost(t);
  const clock = stopClock(t);
  const url = 'https://sites.example/volumes';
  host.programs.give(
    'nmcli',
    `if [ -e "$ROOT/asked" ]; then cat <<'END'\n${option(url)}\nEND\nelse touch "$ROOT/asked"; fi`,
  );
  const found = urlByDhcp(new AbortController().signal);
  // The deadline of nmcli is a longer one.
  while ((await clock.sleeping()) > 2_000) await new Promise((resolve) => setImmediate(resolve));
  await clock.wake();
  t.equal(await found, url);
  t.equal(host.programs.calls('nmcli').length, 2);
});
