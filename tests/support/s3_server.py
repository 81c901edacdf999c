"""Real S3 servers out of wheels."""

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from mainstay.composition import open_files
from mainstay.infrastructure.files import FileStoreUnavailable
from mainstay.infrastructure.s3_files import S3FileStore
from mainstay.settings import Settings, read_settings
from support.servers import free_port
from support.waiting import wait_until

ACCESS_KEY, SECRET_KEY = "access-key-of-a-test", "secret-key-of-a-test"
BUCKET, PREFIX = "mainstay-files", "firm"


@dataclass(slots=True)
class S3Server:
    """An S3 server with one bucket, which can be killed and started again with what it stored."""

    folder: Path
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def settings_for(self, settings: Settings) -> Settings:
        """Return these settings with the bucket as their file store."""
        address = f"s3://{BUCKET}/{PREFIX}?endpoint={self.endpoint}&region=eu-west-2"
        return replace(settings, files=address, files_access_key=ACCESS_KEY, files_secret_key=SECRET_KEY)

    def open_files(self, settings: Settings) -> S3FileStore:
        files = open_files(self.settings_for(settings))
        assert isinstance(files, S3FileStore)
        return files

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None

    def run(self, command: Sequence[str], **environment: str) -> None:
        """Run a server that is installed beside Python, until it has the bucket."""
        program = Path(sys.executable).with_name(command[0])
        self.process = subprocess.Popen(
            [program, *command[1:]],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self.folder,
            env={**os.environ, **environment},
        )
        wait_until(self._has_bucket)

    def _has_bucket(self) -> bool:
        try:
            self.open_files(read_settings({})).read_id()
        except FileStoreUnavailable:
            return False
        return True


class RcloneServer(S3Server):
    """rclone, whose objects are the files of a folder."""

    def start(self) -> None:
        (self.folder / BUCKET).mkdir(exist_ok=True)
        options = ["--auth-key", f"{ACCESS_KEY},{SECRET_KEY}", "--addr", f"127.0.0.1:{self.port}"]
        self.run(["rclone", "serve", "s3", str(self.folder), *options])

    def path_of(self, name: str) -> Path:
        """Return the path of the object with the content of a file."""
        return self.folder / BUCKET / PREFIX / name[:2] / name[2:]

    def age(self, name: str) -> None:
        """Let a file be stored, or its removal be announced, long ago; rclone remembers the times until it ends."""
        self.kill()
        for path in (self.path_of(name), self.folder / BUCKET / PREFIX / "removals" / name):
            if path.exists():
                os.utime(path, (0, 0))
        self.start()


class SeaweedServer(S3Server):
    """SeaweedFS, which is also made for more than tests, and honours conditions."""

    def start(self) -> None:
        names = ("master", "volume", "filer", "admin", "master.port.grpc", "volume.port.grpc", "filer.port.grpc")
        ports = [f"-{name if '.' in name else f'{name}.port'}={free_port()}" for name in (*names, "s3.port.grpc")]
        options = ["-webdav=false", "-admin.ui=false", "-master.telemetry=false", "-s3.autoCreateBucket=false"]
        ports += [f"-s3.port={self.port}", "-s3.port.iceberg=0", "-s3.port.lance=0", f"-admin.port.grpc={free_port()}"]
        self.run(
            ["weed", "mini", f"-dir={self.folder}", f"-bucket={BUCKET}", "-ip=127.0.0.1", *options, *ports],
            AWS_ACCESS_KEY_ID=ACCESS_KEY,
            AWS_SECRET_ACCESS_KEY=SECRET_KEY,
        )
