class Qrt < Formula
  desc "Exact and fast inference of quantised neural networks on CPUs"
  homepage "@HOMEPAGE@"
  url "@URL@"
  sha256 "@SHA256@"
  license "Apache-2.0"

  depends_on "cli11" => :build
  depends_on "cmake" => :build
  depends_on "flatbuffers" => :build
  depends_on "ninja" => :build
  depends_on "nlohmann-json" => :build
  depends_on "jpeg-turbo"
  depends_on "libpng"
  depends_on :linux
  depends_on "webp"

  uses_from_macos "zlib"

  def install
    system "cmake", "-S", ".", "-B", "build", "-G", "Ninja",
           "-DBUILD_SHARED_LIBS=ON", "-DQRT_BUILD_CONVERTER=OFF", "-DQRT_BUILD_TESTS=OFF", "-DQRT_FETCH_DEPS=OFF",
           "-DQRT_WITH_CPUINFO=OFF", "-DQRT_WITH_PTHREADPOOL=OFF", *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/qrt_run --version")
    (testpath/"test.c").write <<~C
      #include <qrt/qrt.h>
      #include <stdio.h>
      int main(void) { return puts(qrt_version()) < 0; }
    C
    system ENV.cc, "test.c", "-I#{include}", "-L#{lib}", "-lqrt", "-o", "test"
    assert_equal version.to_s, shell_output("./test").strip
  end
end
