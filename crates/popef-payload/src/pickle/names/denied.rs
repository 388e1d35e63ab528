//! Denied names outside Python's own, and the words for what an import can do.
//!
//! A name of Python's library and of the packages in [`PACKAGES`] is denied unless it is known to only build values. So
//! these lists need not be complete. They are for other packages, and for paths that lead through any module to what it
//! imported.

/// Packages in which everything is denied that is not known to only build values.
pub(super) const PACKAGES: &[&str] =
    &["torch", "torchgen", "functorch", "caffe2", "numpy", "pandas", "tensorflow", "tensorflow_core"];

/// Other packages, or parts of them, that load files, run code, start processes or use the network.
pub(super) const OUTSIDE: &str = "
    IPython Cython cython _cffi_backend _pytest aiohttp boto3 botocore celery cffi cloudpickle conda dask dill django
    docker execnet fabric fire flask fsspec gdb gevent git httplib2 httpx huggingface_hub hydra importlib_metadata
    importlib_resources invoke ipykernel jinja2 joblib jsonpickle jupyter_client llvmlite mako mlflow nose notebook
    numexpr paramiko pexpect pip pkg_resources pluggy psutil py pyarrow pytest pyximport ray requests rpyc setuptools sh
    six smart_open tornado twisted urllib3 virtualenv wandb werkzeug wheel wrapt yaml zmq
    attr._make._compile_and_eval attr._make._make_method attr._make.make_class attr.make_class keras.models
    poptorch.load poptorch.poptorch_core poptorch._poptorch_data.parse scipy.io sympy.parsing sympy.sympify
    sympy.core.sympify torchvision.datasets.utils";

/// Modules of Python's library that run programs or code, use files or the network, or import by name. Attributes of
/// these names lead to them in any module that imported them.
pub(super) const RUNNING: &str = "
    os posix nt posixpath ntpath subprocess popen2 commands platform sys sysconfig site shutil socket socketserver ssl
    select selectors pty tty termios fcntl resource signal ctypes mmap pickle cPickle pickletools shelve marshal dbm
    dumbdbm sqlite3 code codeop codecs compileall importlib imp pkgutil zipimport runpy modulefinder webbrowser http
    httplib urllib urllib2 ftplib smtplib telnetlib poplib imaplib nntplib xmlrpc xmlrpclib asyncio concurrent
    multiprocessing threading thread gc inspect types weakref atexit sched pdb bdb profile cProfile trace tracemalloc
    timeit doctest unittest test pydoc distutils venv ensurepip idlelib lib2to3 tkinter turtle tempfile glob fileinput
    linecache tarfile zipfile zipapp gzip bz2 lzma io pathlib mailcap cgi cgitb wsgiref readline rlcompleter
    faulthandler dis ast builtin builtins cmd shlex getpass crypt genericpath SocketServer _pyio asyncore smtpd";

/// Names of attributes that give access to everything.
pub(super) const REACHING: &str =
    "system popen exec execfile eval compile open spawn Popen check_output check_call run_module import_module
    _load_from_bytes";

/// Methods that use files or run code, and that any class may inherit from a known one.
pub(super) const METHODS: &str = "
    dump from_file fromfile hardlink_to load loadFromFile mkdir read_bytes read_text rmdir save symlink_to tofile touch
    unlink write_bytes write_text _evaluate _new_shared_filename_cpu _new_with_file _set_from_file _unpickle_model _write_file";
