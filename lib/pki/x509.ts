/**
 * The only import of the X.509 library: it needs decorator metadata before it is
 * loaded. It signs with SHA-256 and gives each certificate a random serial number
 * of 16 bytes.
 */
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';

export { x509 };
