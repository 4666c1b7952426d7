/**
 * The one door to the X.509 library: it needs decorator metadata before it is
 * loaded and a WebCrypto implementation before it is used.
 */
import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

x509.cryptoProvider.set(webcrypto);

export { x509 };
