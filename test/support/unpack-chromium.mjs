/**
 * A process of its own that unpacks Chromium into its TMPDIR, which is the only place the package knows, and says where
 * it lies.
 */
import chromium from '@sparticuz/chromium';

process.stdout.write(await chromium.executablePath());
