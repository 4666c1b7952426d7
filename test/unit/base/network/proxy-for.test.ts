import t from 'tap';
import { exemptBy, noProxyOf, proxyFor } from '../../../../lib/base/network/proxy-for.ts';

/** Host of the URL, noProxy, and by what it is exempt. */
const ROWS: readonly [host: string, noProxy: string, by: ReturnType<typeof exemptBy>][] = [
  ['192.168.7.9', '192.168.7.0/24', 'network'],
  ['192.168.8.9', '192.168.7.0/24', undefined],
  ['192.168.7.9', '192.168.7.200/24', 'network'],
  ['192.168.7.9', '192.168.7.9', 'address'],
  ['192.168.7.9', '168.7.9', undefined],
  ['[fd00:0::9]', 'fd00::/64', 'network'],
  ['[fd00:1::9]', 'fd00::/64', undefined],
  ['[FD00::0:9]', 'fd00::9', 'address'],
  ['192.168.7.9', 'fd00::/8,0.0.0.0/0', 'network'],
  ['www.example.com', 'example.com', 'name'],
  ['example.com', 'example.com', 'name'],
  ['wwwexample.com', 'example.com', undefined],
  ['www.example.com', '.example.com', 'name'],
  ['example.com', '.example.com', undefined],
  ['WWW.Example.COM.', 'example.com', 'name'],
  ['www.example.com', 'EXAMPLE.com.', 'name'],
  ['www.example.com', '192.168.0.0/16,10.0.0.0/8', undefined],
  ['www.example.com', '*', 'name'],
  ['10.1.2.3', '*', 'name'],
  ['www.example.com', '', undefined],
  ['10.1.2.3', '10.0.0.0/33,10.0.0.0/', undefined],
];

t.test('what a host is exempt by, with and without a port', async (t) => {
  for (const [host, noProxy, by] of ROWS) {
    for (const url of [`http://${host}/f`, `https://${host}:8443/f?x#y`]) {
      t.equal(exemptBy(url, noProxy.split(',')), by, `${url} with ${noProxy}`);
    }
  }
});

t.test('the proxy of a URL is that of its scheme', async (t) => {
  const proxy = { httpProxy: 'http://p:1', httpsProxy: 'http://p:2', noProxy: ['10.0.0.0/8'] };
  t.equal(proxyFor('http://h/f', proxy), 'http://p:1');
  t.equal(proxyFor('https://h/f', proxy), 'http://p:2');
  t.equal(proxyFor('https://h/f', { noProxy: [] }), undefined);
  t.equal(proxyFor('https://10.1.1.1/f', proxy), undefined);
  t.equal(proxyFor('https://h/f', undefined), undefined);
});

t.test('curl gets the host itself in place of networks, which it may not know', async (t) => {
  const noProxy = ['10.0.0.0/8', 'fd00::/8', 'a.example.com', '.b.example.com', '10.9.9.9'];
  const others = ['a.example.com', '.b.example.com', '10.9.9.9'];
  t.strictSame(noProxyOf('http://10.1.2.3/f', noProxy), [...others, '10.1.2.3']);
  t.strictSame(noProxyOf('http://[fd00::1]/f', noProxy), [...others, 'fd00::1']);
  t.strictSame(noProxyOf('http://h/f', noProxy), others);
  t.strictSame(noProxyOf('http://10.9.9.9/f', noProxy), others);
  t.strictSame(
    noProxyOf('http://b.example.com/f', noProxy),
    ['a.example.com', '10.9.9.9'],
    'curl would exempt it',
  );
  t.strictSame(noProxyOf('http://10.1.2.3/f', ['*']), ['*']);
});
